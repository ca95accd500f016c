main agent{main func max(input){list=[]for in in input.items max 10{list.add(in.max)}json={for:1,if:list,"max":list.length}
empty={}selected=[list,json,empty]one="one"of=one+'of'
return{string:json.if,number:json.for,boolean:not list,from:of,none:none,true:true,agent:selected.length,use:json.max}}}
